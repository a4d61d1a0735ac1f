import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { expect, it } from 'vitest'
import { texts } from '../web/texts.mjs'

const folder = fileURLToPath(new URL('../web', import.meta.url))
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('words.ts'))
  .sort()

/** The modules with texts as they are after a build, by their order. */
async function built(language: string, plugins: Plugin[]) {
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: files,
    bundle: true,
    write: false,
    outdir: '/unused',
    format: 'esm',
    define: { LANGUAGE: JSON.stringify(language) },
    plugins,
  })
  return Promise.all(
    outputFiles.map(({ text }) => {
      const source = Buffer.from(text).toString('base64')
      return import(`data:text/javascript;base64,${source}`) as Promise<Record<string, unknown>>
    }),
  )
}

/** Functions by their code, which esbuild prints in one form. */
const shown = (texts: object) =>
  JSON.stringify(
    Object.fromEntries(Object.entries(texts).sort()),
    (_, text) => (typeof text === 'function' ? String(text) : text),
    1,
  )

it.each(['en', 'de'])('builds every text of the sources in %s', async (language) => {
  const sources = await built(language, [])
  const constants = await built(language, [texts(folder, language)])
  expect(files.length).toBeGreaterThan(50)
  for (const [index, file] of files.entries()) {
    expect(shown(constants[index] ?? {}), file).toBe(shown(sources[index]?.t as object))
  }
})
