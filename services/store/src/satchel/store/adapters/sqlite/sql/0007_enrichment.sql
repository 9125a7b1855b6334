-- Which memories a language model has read: `enrichment` is 0 for one that it has not, 1 for one that is done
-- with, and 2 for a secret, which it is never shown. Every change of the facts by a write makes them unread again.
ALTER TABLE memories ADD COLUMN enrichment INTEGER NOT NULL DEFAULT 0;

UPDATE memories SET enrichment = 2 WHERE key IN (SELECT memory FROM documents WHERE hidden = 1);

-- Active memories that are not of high sensitivity: what is unread is counted and found without the others.
CREATE INDEX memories_unread ON memories (key, project) WHERE enrichment = 0 AND state = 1 AND sensitivity < 3;

CREATE TRIGGER secret_stored AFTER INSERT ON documents WHEN new.hidden = 1 BEGIN
  UPDATE memories SET enrichment = 2 WHERE key = new.memory;
END;

CREATE TRIGGER facts_changed AFTER UPDATE OF fingerprint ON documents BEGIN
  UPDATE memories SET enrichment = 2 * new.hidden WHERE key = new.memory;
END;
