-- Codes of the tokens of a memory's passages: `counts` packs a little-endian int32 for each passage, and `codes`
-- the codes of all, one after the other. A memory without a row has none. They go with the vectors that they
-- were made beside. They have a table of their own because in the other they would leave one row to a page
-- where two fit, and whoever reads vectors would read twice as much.
CREATE TABLE token_codes (
  memory INTEGER PRIMARY KEY REFERENCES stored_embeddings (memory) ON DELETE CASCADE,
  counts BLOB NOT NULL,
  codes  BLOB NOT NULL
) STRICT;
