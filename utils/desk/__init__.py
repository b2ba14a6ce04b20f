"""The desk: a web app on this computer, for people who do not use a terminal.

`server` listens on the loopback interface only. `access` decides which requests are answered.
`application` maps addresses to the functions that show a page or carry out an action. Every action
is a method of `..library.Library`: the desk holds no data of its own.
"""
