import { type Mark, marksIn } from '../../../jobs/marks.ts'

/** The login is an address, or `*@DOMAIN`. */
export type EndedLogin = Mark<'login'>

export const { claim, finish, postpone } = marksIn('ended_logins', { key: 'login' })
