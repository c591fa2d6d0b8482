// Package queries is the SQL of the application as Go: sqlc generates it from the *.sql files beside it and
// the schema in migrations. It owns statements and rows, and must not know what they mean.
package queries
