import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const folder = new URL('../web/', import.meta.url)

/** Deletions that need neither, and the reason. */
const OTHERWISE: Record<string, string> = {
  'mailbox/encryption/encryption.tsx': 'web/ui/keys.tsx asks for the name',
  'dashboard/keys/keys.tsx': 'web/ui/keys.tsx asks for the name',
  'console/security/dlp-policies.tsx': 'switched.tsx asks for the name',
  'console/security/countries.tsx': 'switched.tsx asks for the name',
  'console/security/ip-rules.tsx': 'switched.tsx asks for the name',
  'mailbox/sign-ins/sign-ins.tsx': 'a session is made again by signing in',
  'dashboard/account/sessions.tsx': 'a session is made again by signing in',
  'console/sessions/sessions.tsx': 'a session is made again by signing in',
  'console/account/account.tsx': 'a session is made again by signing in',
  'dashboard/people/sessions.tsx': 'a session is made again by signing in',
  'console/blocked-senders/blocked-senders.tsx':
    'a reason is asked for, and mail of the sender can be blocked again',
  'mailbox/grants/grants.tsx': 'the program asks for it again at its next sign-in',
  'mailbox/two-factor/two-factor.tsx': 'a code is asked for',
}

const deletions = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.tsx') && !(file in OTHERWISE))
  .flatMap((file) => {
    const text = readFileSync(new URL(file, folder), 'utf8')
    return [...text.matchAll(/api\.delete\('([^']*)'/g)].map(({ index, 1: path = '' }) => ({
      path,
      dialog:
        text
          .slice(0, index)
          .match(/<Confirm\w*/g)
          ?.at(-1) ?? '',
      after: text.slice(index, index + 400),
    }))
  })

it.each(deletions)('DELETE $path asks for the name or offers an undo', ({ dialog, after }) => {
  const isByName = dialog.startsWith('<ConfirmByName')
  const hasUndo = /toast\([^\n]*\), (async )?(\(\) =>|activate\b)/.test(after)
  expect(isByName || hasUndo).toBe(true)
})
