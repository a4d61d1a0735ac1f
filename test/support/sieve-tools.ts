import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Message, Outcome } from '../../src/sieve/dry-run.ts'

/** The compiler and test runner of Pigeonhole, in a temporary folder. */
export function sieveTools() {
  const folder = mkdtempSync('/tmp/mailplane-sieve-tools-')
  chmodSync(folder, 0o777)
  mkdirSync(join(folder, 'sieve'))
  const at = (name: string) => join(folder, name)
  const uid = process.getuid?.() === 0 ? 65534 : process.getuid?.()
  writeFileSync(
    at('dovecot.conf'),
    `mail_uid = ${uid}
mail_gid = ${uid}
mail_home = ${folder}/home
mail_location = maildir:~/Maildir
log_path = /dev/stderr
ssl = no
postmaster_address = postmaster@localhost
plugin {
  sieve = file:${folder}/sieve;active=${folder}/active
  sieve_max_redirects = 50
  sieve_max_actions = 100
}
`,
  )
  // The compiler replaces its output file, so it must never be a device such as /dev/null.
  const run = (program: string, ...args: string[]) =>
    spawnSync(program, ['-c', at('dovecot.conf'), ...args], { encoding: 'utf8' })

  return {
    /** Returns the messages of the compiler for a script; empty when it is valid. */
    compile(script: string): string {
      writeFileSync(at('script.sieve'), script)
      const { status, stderr } = run('sievec', at('script.sieve'), at('compiled.svbin'))
      return status === 0 && stderr === '' ? '' : `${status} ${stderr}`
    },

    /** The actions of the scripts, run in order, for a message to `own`. */
    test(scripts: readonly string[], message: Message, own: string): Observed {
      writeFileSync(at('message.eml'), written(message))
      scripts.forEach((script, index) => {
        writeFileSync(at(`part-${index}.sieve`), script)
      })
      // Includes would need stored files; the commands in one file run the same way, requires
      // first.
      const all = scripts.join('')
      const requires = [...all.matchAll(/^require (\[.*?\]);\r\n/gm)].map(([line]) => line)
      writeFileSync(
        at('script.sieve'),
        requires.join('') + all.replace(/^require \[.*?\];\r\n/gm, ''),
      )
      const { status, stdout, stderr } = run(
        'sieve-test',
        ...['-a', own, '-r', own, '-f', 'sender@elsewhere.test'],
        at('script.sieve'),
        at('message.eml'),
      )
      if (status !== 0) throw new Error(`sieve-test: ${stderr}`)
      return observed(stdout)
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

export type Observed = Pick<Outcome, 'stored' | 'forwarded_to' | 'discarded' | 'vacation_reply'>

function observed(output: string): Observed {
  const stored = [...output.matchAll(/store message in folder: (.*)\n((?:\s+\+ .*\n)*)/g)].map(
    ([, folder = '', more = '']) => ({
      folder,
      flags: flagsOf(/\+ add IMAP flags: (.*)/.exec(more)?.[1]),
    }),
  )
  return {
    stored,
    forwarded_to: [...output.matchAll(/redirect message to: <(.*)>/g)].map(([, to = '']) => to),
    discarded: / \* discard/.test(output),
    vacation_reply: /send vacation message/.test(output),
  }
}

const flagsOf = (text = '') =>
  text
    .split(' ')
    .filter((flag) => flag !== '')
    .map((flag) => flag.replace(/^\\(.)/, (_, first) => `\\${first.toUpperCase()}`))

/** Builds a message from its parts and encodes headers where necessary. */
function written({ from, to, cc, subject, body = '' }: Message): string {
  const text = (value: string) =>
    /^[\x20-\x7e]*$/.test(value) ? value : `=?utf-8?B?${Buffer.from(value).toString('base64')}?=`
  return [
    ...Object.entries({ from, to, cc, subject }).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}: ${text(value)}`],
    ),
    'Date: Sun, 15 Nov 2026 06:00:00 +0000',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    body.replace(/\r\n|\r|\n/g, '\r\n') + (body === '' || /[\r\n]$/.test(body) ? '' : '\r\n'),
  ].join('\r\n')
}
