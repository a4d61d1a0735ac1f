import { blobMethods } from '../blobs/blob.methods.ts'
import { emailMethods } from '../email/email.methods.ts'
import { mailboxMethods } from '../mailbox/mailbox.methods.ts'
import { pushMethods } from '../push/push-subscription.methods.ts'
import { identityMethods } from '../submission/identity.methods.ts'
import { submissionMethods } from '../submission/submission.methods.ts'
import { threadMethods } from '../thread/thread.methods.ts'
import { vacationMethods } from '../vacation/vacation.methods.ts'
import { CORE } from './limits.ts'
import type { Method, PlainMethod } from './method.ts'

const echo: PlainMethod = { capability: CORE, runPlain: async (_parts, _login, args) => args }

/** All methods by name. */
export const METHODS: ReadonlyMap<string, Method | PlainMethod> = new Map(
  Object.entries<Method | PlainMethod>({
    'Core/echo': echo,
    ...pushMethods,
    ...blobMethods,
    ...mailboxMethods,
    ...threadMethods,
    ...emailMethods,
    ...identityMethods,
    ...submissionMethods,
    ...vacationMethods,
  }),
)
