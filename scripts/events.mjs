// Writes docs/generated/events.md from the events that the code declares; `--check` only compares.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventCatalogue } from '../src/events/events.ts'
import { exampleData } from '../src/events/example.ts'
import { declareEvents } from '../src/features/index.ts'
import { root } from './prepare.mjs'

const file = join(root, 'docs', 'generated', 'events.md')
await declareEvents()
const events = eventCatalogue()

const INTRODUCTION = `# Events

Written by \`npm run events\` from the declarations in \`src/**/*.events.ts\` and \`src/events/planned/\`; do not edit.

An event says that something has happened. It is stored in the transaction of the change that caused it, in the table \`events\`: both are stored, or neither. [webhooks.md](../webhooks.md) describes how events are delivered and how other services publish theirs.

Every event has these fields, whatever it is about:

| Field | Type | Meaning |
| --- | --- | --- |
| \`id\` | string | unique; the same however often the event is delivered |
| \`event\` | string | its name, as below |
| \`source\` | string | which part of the system produced it |
| \`org_id\` | string or null | the organization it concerns |
| \`domain\` | string or null | the domain it concerns, if it is about one |
| \`data\` | object | what is listed with the event |
| \`created_at\` | timestamp | when it was stored |

A field that is optional is left out when there is nothing to say. Fields may be added to an event; none is taken away or renamed.

Under _Producer_, \`none\` means that nothing in this code emits the event yet: it arrives only when another service publishes it. \`reserved\` names are taken, and nothing is expected to emit them. Do not rely on either.`

const PRODUCERS = { this: 'Mailplane', none: '`none`', reserved: '`reserved`' }

const text = aligned(
  `${[
    INTRODUCTION,
    '## All events',
    [
      '| Event | Source | Producer | When |',
      '| --- | --- | --- | --- |',
      ...events.map(
        ({ name, source, summary, producer }) =>
          `| [\`${name}\`](#${name.replace(/[^\w-]/g, '')}) | ${source} | ${PRODUCERS[producer]} | ${summary} |`,
      ),
    ].join('\n'),
    ...events.map(described),
  ].join('\n\n')}\n`,
)

if (process.argv.includes('--check')) {
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    process.stderr.write('docs/generated/events.md differs from the events; run npm run events\n')
    process.exitCode = 1
  }
} else {
  writeFileSync(file, text)
}

function described({ name, source, summary, data, producer }) {
  const required = data.required ?? []
  const fields = Object.entries(data.properties).map(([field, schema]) => {
    const notes = [required.includes(field) ? '' : 'optional', schema.description ?? '']
    return `| \`${field}\` | ${typeOf(schema)} | ${notes.filter(Boolean).join('; ')} |`
  })
  const table = ['| Field | Type | Notes |', '| --- | --- | --- |', ...fields].join('\n')
  const example = ['```json', written(exampleData(data)), '```'].join('\n')
  const from = `Source: \`${source}\`. Producer: ${PRODUCERS[producer]}.`
  return `## ${name}\n\n${summary}. ${from}\n\n${table}\n\n${example}`
}

/** Formats JSON like the formatter of the repository: one line per top-level field. */
function written(example) {
  const fields = Object.entries(example).map(([name, value]) => `  "${name}": ${inline(value)}`)
  return `{\n${fields.join(',\n')}\n}`
}

function inline(value) {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const fields = Object.entries(value).map(([name, inner]) => `"${name}": ${inline(inner)}`)
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}

function typeOf({ type, anyOf, const: only, items }) {
  if (anyOf) return anyOf.map(typeOf).join(' or ')
  if (only !== undefined) return `\`${JSON.stringify(only)}\``
  return type === 'array' ? `array of ${typeOf(items)}` : type
}

/** Aligns the columns of every Markdown table. */
function aligned(markdown) {
  return `${markdown.replace(/(^\|.*\n?)+/gm, (table) => {
    const rows = table
      .trim()
      .split('\n')
      .map((row) =>
        row
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim()),
      )
    const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
    const lines = rows.map((row, index) => {
      const cells = row.map((cell, column) => cell.padEnd(widths[column], index === 1 ? '-' : ' '))
      return `| ${cells.join(' | ')} |`
    })
    return `${lines.join('\n')}\n`
  })}`
}
