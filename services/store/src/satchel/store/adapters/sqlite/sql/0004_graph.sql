-- The words of the effect's text by which a link was found; empty for a link that was given.
ALTER TABLE links ADD COLUMN phrase TEXT NOT NULL DEFAULT '';
ALTER TABLE awaited_links ADD COLUMN phrase TEXT NOT NULL DEFAULT '';

-- Among the newest memories of a wing before another one its cause is looked for.
CREATE INDEX memories_by_wing ON memories (project, wing, effective_at, created_at, id);

-- What memories of a batch became when they were consolidated, so that it can be undone.
CREATE TABLE merged (
  batch  TEXT    NOT NULL,
  memory INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
  PRIMARY KEY (batch, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX merged_by_memory ON merged (memory);
