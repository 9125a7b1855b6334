-- Identities of agents. Times are microseconds since 1970 in UTC; `cause` holds the number of the domain's enum.

CREATE TABLE identities (
  key      INTEGER PRIMARY KEY,
  project  TEXT    NOT NULL,
  agent_id TEXT    NOT NULL,
  UNIQUE (project, agent_id)
) STRICT;

-- Versions of an identity; `snapshot` is JSON, whole. The columns beside it are those that are searched by.
CREATE TABLE identity_versions (
  identity    INTEGER NOT NULL REFERENCES identities (key) ON DELETE CASCADE,
  version     INTEGER NOT NULL CHECK (version >= 1),
  created_at  INTEGER NOT NULL,
  cause       INTEGER NOT NULL CHECK (cause BETWEEN 1 AND 4),
  drift_score REAL    NOT NULL,
  snapshot    TEXT    NOT NULL,
  PRIMARY KEY (identity, version)
) STRICT;
CREATE INDEX identity_versions_by_cause ON identity_versions (identity, cause, version);

-- A version is written once.
CREATE TRIGGER identity_versions_stay BEFORE UPDATE ON identity_versions BEGIN
  SELECT RAISE(ABORT, 'a version of an identity is never edited');
END;
