// Builds dist/ from src/ and web/ with esbuild. Modules and packages are joined into few files, because loading
// two thousand of them was most of the start-up time. See docs/adr/0015-bundled-build.md.
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { buildWeb } from '../web/build.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const tasks = readdirSync(join(root, 'src'), { recursive: true })
  .filter((file) => file.endsWith('.task.ts'))
  .map((file) => join('src', file))

// Removes the output of deleted sources.
rmSync(join(root, 'dist'), { recursive: true, force: true })
await build({
  absWorkingDir: root,
  entryPoints: [
    'src/main.ts',
    // Loaded by path: the threads, and the modules that the scripts and the Dockerfile use.
    'src/lib/worker-thread.ts',
    'src/edge/packages.ts',
    'src/database/embedded-binaries.ts',
    ...tasks,
  ],
  outdir: 'dist',
  outbase: 'src',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  sourcemap: true,
  // Node keeps the text of every loaded module in memory; comments were a third of it.
  minifyWhitespace: true,
  lineLimit: 200,
  legalComments: 'external',
  // The first three load files of their own folder at run time. The last is CommonJS and loaded on
  // first use: a dynamic import of a joined CommonJS package has no named exports.
  external: ['@node-rs/argon2', 'bcrypt', 'mrml', 'ioredis'],
  // CommonJS packages call `require` for the modules of Node.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
  logLevel: 'warning',
})
await buildWeb()
