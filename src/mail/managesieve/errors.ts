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

/** The compiler, or a quota of the script store, says no; its words are the message. */
export const ScriptRefused = defineError<string>({ status: 400, message: (text) => text })

export const FiltersNotRead = defineError({ status: 502, message: 'Could not read mail filters' })
export const FiltersNotSaved = defineError({ status: 502, message: 'Could not save mail filters' })

/** The server understood and said no. What that means depends on what was asked. */
export class Refusal extends Error {
  readonly command: string
  readonly code: string

  constructor(command: string, code: string, text: string) {
    super(text)
    this.command = command
    this.code = code
  }
}

/** No answer, or none that makes sense: the connection is of no more use. */
export class ConnectionFailed extends Error {}
