-- Memories whose vectors have no codes of tokens beside them: those from before there were codes, and all of a model
-- that gives none. Finding them in `token_codes` would pass over every memory that has codes.
CREATE TABLE without_codes (
  memory INTEGER PRIMARY KEY REFERENCES stored_embeddings (memory) ON DELETE CASCADE
) STRICT;

INSERT INTO without_codes (memory)
  SELECT memory FROM stored_embeddings WHERE memory NOT IN (SELECT memory FROM token_codes);

-- Whether the last run takes these memories too, and when it was cancelled.
ALTER TABLE reembedding ADD COLUMN codes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reembedding ADD COLUMN cancelled_at INTEGER;
