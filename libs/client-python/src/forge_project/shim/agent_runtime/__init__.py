"""Stands in for the package `forrestrun` where a project's Python does not have it: enough for its tools, and no runtime."""
