// Builds web/ into dist/web: a script for each surface and language, one style sheet, hashed names,
// compressed. The server sends the files as they are. `--report` prints the sizes.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build } from 'esbuild'
import { minify } from 'terser'
import { texts } from './texts.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = join(root, 'dist', 'web')

/** The first part of the path, and the folder of the surface. */
export const SURFACES = {
  start: 'start',
  setup: 'setup',
  app: 'dashboard',
  console: 'console',
  mailbox: 'mailbox',
}
export const LANGUAGES = ['en', 'de']

const common = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  // Umlauts as they are, not as escapes.
  charset: 'utf8',
  format: 'esm',
  // Nesting, light-dark() and oklch() are sent as they are written.
  target: ['chrome123', 'firefox128', 'safari18'],
  entryNames: '[name]-[hash]',
  // The part that a surface loads on demand (later.tsx) is a file of its own.
  splitting: true,
  outdir: out,
  write: false,
  metafile: true,
  logLevel: 'error',
}

/** Everything that dist/web contains, by name. */
async function files() {
  const made = new Map()
  const manifest = { scripts: {}, imports: {}, style: '' }
  const add = async ({ outputFiles, metafile }) => {
    for (const { path, contents } of outputFiles) {
      made.set(basename(path), await smaller(path, Buffer.from(contents)))
    }
    return Object.entries(metafile.outputs).map(([path, { imports, entryPoint }]) => ({
      name: basename(path),
      isEntry: entryPoint?.endsWith('/main.tsx'),
      imports: imports
        .filter(({ kind }) => kind === 'import-statement')
        .map((one) => basename(one.path)),
    }))
  }
  const [styles, ...scripts] = await Promise.all([
    build({ ...common, entryPoints: [{ in: 'web/ui/app.css', out: 'style' }] }),
    ...LANGUAGES.flatMap((language) =>
      Object.entries(SURFACES).map(([surface, folder]) => script(surface, folder, language)),
    ),
  ])
  const [style] = await add(styles)
  manifest.style = style.name
  for (const { surface, language, built } of scripts) {
    const entry = (await add(built)).find(({ isEntry }) => isEntry)
    manifest.scripts[language] ??= {}
    manifest.scripts[language][surface] = entry.name
    manifest.imports[entry.name] = entry.imports
  }
  made.set('icon.svg', readFileSync(join(root, 'web', 'ui', 'icon.svg')))
  return { made, manifest }
}

async function script(surface, folder, language) {
  const built = await build({
    ...common,
    entryPoints: [{ in: `web/${folder}/main.tsx`, out: `${surface}-${language}` }],
    chunkNames: `${surface}-${language}-[name]-[hash]`,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { LANGUAGE: JSON.stringify(language) },
    plugins: [texts(join(root, 'web'), language)],
  })
  return { surface, language, built }
}

/**
 * Inlines what is used once, which esbuild does not: 6 percent less to load. It takes seconds, so only
 * the dashboard and the console, which would be above their limit, are made smaller in this way.
 */
async function smaller(path, contents) {
  if (!/^(app|console)-.*\.js$/.test(basename(path))) return contents
  const { code } = await minify(contents.toString('utf8'), { module: true, ecma: 2022 })
  return Buffer.from(code)
}

const compressors = {
  br: (contents) =>
    promisify(brotliCompress)(contents, {
      params: { [constants.BROTLI_PARAM_SIZE_HINT]: contents.length },
    }),
  gz: (contents) => promisify(gzip)(contents, { level: 9 }),
}

export async function buildWeb() {
  const { made, manifest } = await files()
  mkdirSync(out, { recursive: true })
  const sizes = await Promise.all(
    [...made].map(async ([name, contents]) => {
      writeFileSync(join(out, name), contents)
      const size = { name, plain: contents.length }
      for (const [ending, compress] of Object.entries(compressors)) {
        const smaller = await compress(contents)
        writeFileSync(join(out, `${name}.${ending}`), smaller)
        size[ending] = smaller.length
      }
      return size
    }),
  )
  writeFileSync(join(out, 'manifest.json'), JSON.stringify(manifest))
  return sizes
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const sizes = await buildWeb()
  if (process.argv.includes('--report')) {
    for (const { name, plain, gz, br } of sizes) {
      process.stdout.write(`${name.padEnd(30)} ${plain} plain, ${gz} gzip, ${br} brotli\n`)
    }
  }
}
