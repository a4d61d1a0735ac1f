import type { QueuedHeaders } from './mail-queue.ts'

/** The output of `postcat -qeh` is read up to here. */
export const MOST_HEADER_BYTES = 512 * 1024

const CONTENTS = /^\*\*\* MESSAGE CONTENTS .* \*\*\*$/
const EXTRACTED = /^\*\*\* HEADER EXTRACTED .* \*\*\*$/
const FIELD = /^([\x21-\x39\x3b-\x7e]+)[ \t]*:(.*)$/

/** Reads the output of `postcat -qeh`: envelope records, then the header of the message. */
export function readQueueFile(text: string, truncated: boolean): QueuedHeaders {
  const lines = text.split('\n')
  const start = lines.findIndex((line) => CONTENTS.test(line))
  const end = lines.findIndex((line, at) => at > start && EXTRACTED.test(line))
  const envelope = start === -1 ? lines : lines.slice(0, start)
  const values = (name: string) =>
    envelope.flatMap((line) => (line.startsWith(`${name}: `) ? [line.slice(name.length + 2)] : []))
  const headers: QueuedHeaders['headers'] = []
  for (const line of start === -1 ? [] : lines.slice(start + 1, end === -1 ? undefined : end)) {
    const last = headers.at(-1)
    const [, name, value = ''] = FIELD.exec(line) ?? []
    if (/^[ \t]/.test(line) && last) last.value += `\n${line}`
    else if (name !== undefined) headers.push({ name, value: value.trim() })
  }
  return {
    sender: values('sender')[0] ?? '',
    // A recipient that was delivered already is a record of another name.
    recipients: values('recipient'),
    headers,
    truncated,
  }
}
