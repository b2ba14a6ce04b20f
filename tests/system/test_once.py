"""A value that threads share is made once."""

import threading

from utils.system.once import shared_property


def test_threads_that_ask_at_once_get_the_same_value():
    made = []
    first_is_in = threading.Event()

    class Owner:
        @shared_property
        def value(self):
            made.append(1)
            first_is_in.set()
            second.join(0.2)  # the second thread asks while the first still makes the value
            return object()

    owner = Owner()
    seen = []
    second = threading.Thread(target=lambda: (first_is_in.wait(), seen.append(owner.value)))
    second.start()
    seen.append(owner.value)
    second.join()
    assert len(made) == 1
    assert seen[0] is seen[1]
    assert isinstance(Owner.value, shared_property)
