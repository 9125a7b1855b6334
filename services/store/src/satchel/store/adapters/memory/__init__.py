"""The store in this process's memory: for tests, demonstrations and whatever should leave no trace.

An implementation of the port `MemoryStore` of its own, in plain Python, that shares no code with the other
backends: what the conformance suite asks of both is the contract, not the behaviour of one database.

Nothing survives the process, there is no file and no schema, and every search looks at every memory: it is
made for some ten thousand of them. Nothing waits, since a call runs from end to end at once, so no queue has
to be bounded. Of the settings only ``search_entries`` and ``versions_kept`` count.
"""
