package web

import (
	"bytes"
	"io/fs"
	"mime"
	"path"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/klauspost/compress/gzip"

	"weftline/static"
)

const staticPrefix = static.Prefix

// asset is one built file; zipped is nil where compression does not help.
type asset struct{ plain, zipped []byte }

// assets are read and compressed at their first request and kept: there are a few dozen at most.
var assets sync.Map // file name → *asset

// serveStatic answers the embedded browser files. Their names carry a hash, so browsers keep them for ever.
func serveStatic(c *fiber.Ctx) error {
	name := c.Params("*")
	file, err := assetOf(name)
	if err != nil {
		return fiber.ErrNotFound
	}
	c.Set(fiber.HeaderContentType, mime.TypeByExtension(path.Ext(name)))
	c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	if file.zipped != nil && strings.Contains(c.Get(fiber.HeaderAcceptEncoding), "gzip") {
		c.Set(fiber.HeaderContentEncoding, "gzip")
		c.Response().SetBodyRaw(file.zipped)
		return nil
	}
	c.Response().SetBodyRaw(file.plain)
	return nil
}

func assetOf(name string) (*asset, error) {
	if kept, ok := assets.Load(name); ok {
		return kept.(*asset), nil
	}
	plain, err := fs.ReadFile(static.FS, name)
	if err != nil {
		return nil, err
	}
	file := &asset{plain: plain, zipped: zip(name, plain)}
	assets.Store(name, file)
	return file, nil
}

func zip(name string, plain []byte) []byte {
	if ext := path.Ext(name); ext == ".woff2" || ext == ".png" {
		return nil // compressed already
	}
	var out bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is a valid constant
	_, _ = writer.Write(plain)                                   // a bytes.Buffer never fails
	_ = writer.Close()
	return out.Bytes()
}
