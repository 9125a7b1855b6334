"""The gateway translates REST and MCP into gRPC; it decides nothing about memory."""
