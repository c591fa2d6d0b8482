package migrations

// UpFrom is Up over files of a test's own.
var UpFrom = up
