export const CORE = 'urn:ietf:params:jmap:core'
export const MAIL = 'urn:ietf:params:jmap:mail'
export const SUBMISSION = 'urn:ietf:params:jmap:submission'
export const VACATION = 'urn:ietf:params:jmap:vacationresponse'

/** The limits that the session announces. */
export const LIMITS = {
  maxSizeUpload: 50_000_000,
  maxConcurrentUpload: 4,
  maxSizeRequest: 10_000_000,
  maxConcurrentRequests: 8,
  maxCallsInRequest: 32,
  maxObjectsInGet: 500,
  maxObjectsInSet: 500,
  collationAlgorithms: ['i;ascii-casemap', 'i;octet'],
} as const

export const MAX_MAILBOX_DEPTH = 10
export const MAX_MAILBOX_NAME = 200
/** A filter of a query. */
export const MAX_FILTER_DEPTH = 20
export const MAX_FILTER_CONDITIONS = 200
/** A larger message is not taken apart; it can be downloaded as a whole. */
export const MAX_MESSAGE_BYTES = 100_000_000
/** Downloads of one holder at once. */
export const MAX_DOWNLOADS = 8
/** All texts of messages in one answer. */
export const MAX_BODY_BYTES = 50_000_000
