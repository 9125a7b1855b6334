"""The MCP door: tools are rows that name an RPC."""
