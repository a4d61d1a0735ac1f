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
/** All answers of one request, and the parts of them that later calls refer to. */
export const MAX_ANSWER_BYTES = 20_000_000
/** RFC 8620 section 1.2. */
export const MAX_ID_OCTETS = 255
/** Names in `properties` and in `bodyProperties`. */
export const MAX_PROPERTIES = 100
