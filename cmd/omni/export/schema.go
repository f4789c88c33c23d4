package export

import (
	"context"
	"embed"
	"fmt"

	"github.com/jackc/pgx/v5"
)

//go:embed migrations/*.sql
var migrations embed.FS

// SchemaVersion is the number of the newest migration that this binary has.
const SchemaVersion = 2

// SchemaError says that the database was written by a newer version.
type SchemaError struct{ Found int }

// Error names both versions.
func (e *SchemaError) Error() string {
	return fmt.Sprintf("the database has schema version %d, and this omni knows %d: upgrade omni", e.Found, SchemaVersion)
}

// migrationLock keeps two exporters from migrating at once: a number of ours for
// pg_advisory_xact_lock.
const migrationLock = 0x6f6d6e69 // "omni"

// migrate brings the database's schema up to SchemaVersion, each version in a
// transaction of its own.
func migrate(ctx context.Context, c *pgx.Conn, schema string) error {
	name := pgx.Identifier{schema}.Sanitize()
	for {
		more := false
		err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) (err error) {
			more, err = migrateOne(ctx, tx, schema, name)
			return err
		})
		if err != nil || !more {
			return err
		}
	}
}

func migrateOne(ctx context.Context, tx pgx.Tx, schema, name string) (more bool, err error) {
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", migrationLock); err != nil {
		return false, err
	}
	var there bool
	if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", schema).Scan(&there); err != nil {
		return false, err
	}
	if !there { // whoever may not create one may be given one
		if _, err := tx.Exec(ctx, "CREATE SCHEMA "+name); err != nil {
			return false, err
		}
	}
	if _, err := tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS `+name+`.schema_versions (
		version int PRIMARY KEY, migrated_at timestamptz NOT NULL DEFAULT now())`); err != nil {
		return false, err
	}
	var version int
	if err := tx.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM "+name+".schema_versions").Scan(&version); err != nil {
		return false, err
	}
	if version >= SchemaVersion {
		if version > SchemaVersion {
			return false, &SchemaError{version}
		}
		return false, nil
	}
	text, err := migrations.ReadFile(fmt.Sprintf("migrations/%04d.sql", version+1))
	if err != nil {
		return false, err
	}
	if _, err := tx.Exec(ctx, "SET LOCAL search_path TO "+name); err != nil {
		return false, err
	}
	if _, err := tx.Exec(ctx, string(text)); err != nil {
		return false, fmt.Errorf("migration %d: %w", version+1, err)
	}
	_, err = tx.Exec(ctx, "INSERT INTO schema_versions (version) VALUES ($1)", version+1)
	return true, err
}
