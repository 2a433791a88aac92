# Generated from proto/ by codegen/generate.py; do not edit.
"""Messages and enums of forge.token.v1, as in proto/forge/token/v1."""

from forge_client._gen.forge.token.v1.token_pb2 import (
    CreateTokenRequest,
    CreateTokenResponse,
    ListTokensRequest,
    ListTokensResponse,
    RevokeTokenRequest,
    RevokeTokenResponse,
    Token,
    TokenGrant,
)

__all__ = [
    "CreateTokenRequest",
    "CreateTokenResponse",
    "ListTokensRequest",
    "ListTokensResponse",
    "RevokeTokenRequest",
    "RevokeTokenResponse",
    "Token",
    "TokenGrant",
]
