"""The lab: fakes and whole papers made of real ones, and how often the judge is wrong about them.

Papers come from the recorded articles, or from our own small ones where those are absent. Every
*kind* makes one sort of document, in every medium it can be printed in. Nothing here reads the
judge, and half of the kinds (``held_out``) are never looked at by whoever writes it.
"""
