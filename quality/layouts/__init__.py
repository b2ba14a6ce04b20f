"""Publishers' pages laid out from recorded articles, so that each page's truth is known.

Half of the layouts (`mended`) were looked at while the reader was mended, the others (`unseen`)
never: what they reach is what a page nobody has met may expect.
"""
