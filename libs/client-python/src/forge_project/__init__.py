"""
The process that a project's Python functions and tools run in. The project's server starts it with whatever Python the project uses, so it needs nothing but
the standard library, and it takes no name that a project could want.
"""
