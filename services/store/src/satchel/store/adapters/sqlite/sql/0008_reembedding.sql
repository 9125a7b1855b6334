-- Vectors may be made anew with another model while the store serves. `models` keeps the one model in use, and
-- `former_models` those whose vectors are still there, outdated, until a memory gets new ones.
ALTER TABLE models ADD COLUMN number INTEGER NOT NULL DEFAULT 1;

CREATE TABLE former_models (
  sha256     TEXT    NOT NULL PRIMARY KEY,
  name       TEXT    NOT NULL,
  revision   TEXT    NOT NULL,
  dimension  INTEGER NOT NULL,
  max_tokens INTEGER NOT NULL,
  number     INTEGER NOT NULL UNIQUE
) STRICT;

-- A memory has the vectors of one model; `model` is its number. The table takes another name, so that whoever
-- reads `embeddings` sees the vectors of the model in use and no others.
ALTER TABLE embeddings RENAME TO stored_embeddings;
ALTER TABLE stored_embeddings ADD COLUMN model INTEGER NOT NULL DEFAULT 1;
CREATE INDEX stored_embeddings_by_model ON stored_embeddings (model, memory);

-- The plus sign keeps the index out of it: a memory's vectors are always looked for by the memory.
CREATE VIEW embeddings AS
  SELECT memory, spans, vectors FROM stored_embeddings WHERE +model = (SELECT number FROM models);

-- The last run; one row, or none before the first. `total` is how many memories were outdated when it began.
CREATE TABLE reembedding (
  id          INTEGER PRIMARY KEY CHECK (id = 1),
  total       INTEGER NOT NULL,
  begun_at    INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;
