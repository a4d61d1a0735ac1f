import { defineError } from '../../errors.ts'

export const SieveNotConfigured = defineError({
  status: 503,
  code: 'sieve_not_configured',
  message: 'Mailbox filters are not configured here; set IMAP_MASTER_USER and IMAP_MASTER_PASSWORD',
})

export const SieveUnavailable = defineError({
  status: 503,
  code: 'sieve_unavailable',
  message: 'The filter service is not available at the moment; try again later',
})

/** The Sieve compiler or a quota rejected the script; the message is the server's text. */
export const ScriptRefused = defineError<string>({ status: 400, message: (text) => text })

export const FiltersNotRead = defineError({ status: 502, message: 'Could not read mail filters' })
export const FiltersNotSaved = defineError({ status: 502, message: 'Could not save mail filters' })

/** The server answered NO. The meaning depends on the command. */
export class Refusal extends Error {
  readonly command: string
  readonly code: string

  constructor(command: string, code: string, text: string) {
    super(text)
    this.command = command
    this.code = code
  }
}

/** The server did not answer or broke the protocol; the connection is unusable. */
export class ConnectionFailed extends Error {}
