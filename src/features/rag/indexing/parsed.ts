/** The searchable and shown fields of a message. */
export interface Parsed {
  message_id: string | null
  subject: string | null
  sender: string | null
  recipients: string | null
  date: string | null
  has_attachment: boolean
  /** The searchable text, from the enabled fields only. */
  searched_subject: string
  people: string
  body: string
}

/** For a message that takes too long to parse: it is counted and cannot be found. */
export const unreadable = (received: Date | undefined): Parsed => ({
  message_id: null,
  subject: null,
  sender: null,
  recipients: null,
  date: received && isStorable(received) ? received.toISOString() : null,
  has_attachment: false,
  searched_subject: '',
  people: '',
  body: '',
})

/** PostgreSQL accepts only these years in ISO format. */
export const isStorable = (date: Date): boolean =>
  date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9999
