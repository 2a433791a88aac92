"""The driver of the clients in Python: driver.py python | python-async. See proto/forge/contract/v1."""

import asyncio
import sys

from async_driver import serve_async
from blocking_driver import serve_blocking


def main() -> None:
    implementation = sys.argv[1]
    if implementation == "python":
        serve_blocking(sys.stdin.buffer, sys.stdout.buffer, implementation)
    elif implementation == "python-async":
        asyncio.run(serve_async(sys.stdin.buffer, sys.stdout.buffer, implementation))
    else:
        sys.exit(f"there is no implementation {implementation}")


if __name__ == "__main__":
    main()
