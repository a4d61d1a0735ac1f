// In the sources the texts of a screen are one object for each language. In a built script each text
// is a constant: its name is shortened, and a text that a surface does not use is left out. All texts
// come before the code, because beside each other they compress better.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'

const IMPORT = /import \{ t(?: as (\w+))? \} from ('[^']*words\.ts')/g
const ENTRY = /^ {2}(\w+): ?(.*)$/
const COMMENT = /^ {2}(\/[/*]| \*)/

/** The plugin of esbuild for the scripts of one language; `folder` is web/. */
export const texts = (folder, language) => ({
  name: 'texts',
  setup({ onLoad }) {
    onLoad({ filter: /words\.ts$/ }, ({ path }) => ({
      contents: constantsOf(readFileSync(path, 'utf8'), language, path),
      loader: 'ts',
    }))
    onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
      if (!path.startsWith(folder + sep)) return undefined
      const source = readFileSync(path, 'utf8').replace(
        IMPORT,
        (_, name, file) => `import * as ${name ?? 't'} from ${file}`,
      )
      const isSurface = path.endsWith(`${sep}main.tsx`)
      return {
        contents: isSurface ? firstTexts(folder, dirname(path)) + source : source,
        loader: path.endsWith('x') ? 'tsx' : 'ts',
      }
    })
  },
})

const firstTexts = (folder, surface) => {
  const later = areasOnDemand(surface)
  return [...textsIn(join(folder, 'ui')), ...textsIn(surface)]
    .filter((path) => !later.has(dirname(path)))
    .map((path) => `import ${JSON.stringify(path)}\n`)
    .join('')
}

/** Folders from which later.tsx takes screens: their texts are loaded with these. */
function areasOnDemand(surface) {
  const file = join(surface, 'later.tsx')
  const source = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return new Set(
    [...source.matchAll(/from '(.*)'/g)].map(([, path]) => dirname(join(surface, path))),
  )
}

const textsIn = (folder) =>
  readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('words.ts'))
    .sort()
    .map((name) => join(folder, name))

/** Relies on the formatter: an entry of the object begins with two spaces, its name and a colon. */
function constantsOf(source, language, path) {
  const object = new RegExp(`^const ${language}\\b[^{]*\\{\\n(.*?)^\\}`, 'ms').exec(source)
  if (!object) throw new Error(`${path}: no object ${language} with texts`)
  const entries = []
  for (const line of object[1].split('\n')) {
    const [, name, value] = ENTRY.exec(line) ?? []
    if (name) entries.push({ name, value })
    else if (entries.length > 0 && !COMMENT.test(line)) entries.at(-1).value += `\n${line}`
  }
  const before = source.slice(0, source.indexOf('const en'))
  const constants = entries.map(
    ({ name, value }) => `const text_${name} = ${value.trimEnd().replace(/,$/, '')}\n`,
  )
  const names = entries.map(({ name }) => `text_${name} as ${name}`)
  return `${before}${constants.join('')}export { ${names.join(', ')} }\n`
}
