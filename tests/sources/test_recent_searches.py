"""The same search within ten minutes asks nobody."""


def test_the_same_search_is_answered_from_the_cache_for_ten_minutes(library, world, clock):
    first = library.search("CXCL12", max_results=3)
    asked = len(world.requests)
    assert library.search("CXCL12", max_results=3) == first
    assert len(world.requests) == asked
    library.search("CXCL12", max_results=2)
    assert len(world.requests) > asked
    asked = len(world.requests)
    clock.sleep(601)
    assert library.search("CXCL12", max_results=3) == first
    assert len(world.requests) > asked
