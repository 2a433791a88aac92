"""What would end, or never let go of, the process that it runs in."""

import ctypes
import os
import sys
import time


def exits(inputs):
    sys.exit("goodbye")


def dies(inputs):
    os._exit(9)


def crashes(inputs):
    ctypes.string_at(0)


def never(inputs):
    while True:
        time.sleep(0.01)


def not_a_number(inputs):
    return {"value": float("nan")}


def circular(inputs):
    value = {}
    value["value"] = value
    return value


def floods(inputs):
    for _ in range(20_000):
        print("x" * 200)
    os.write(1, b"\xff\xfe no text\n")
    return {"flooded": True}
