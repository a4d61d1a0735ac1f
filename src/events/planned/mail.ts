import { reserved } from './plan.ts'

const MESSAGE = 'message_id sender recipient'

reserved('postfix', [
  ['email.queued', 'A message waits in the mail queue', `${MESSAGE} queue_id`],
  ['email.stored', 'A message was put into a mailbox', `${MESSAGE} mailbox`],
  ['delivery.success', 'A message arrived', `${MESSAGE} relay?`],
  ['delivery.delayed', 'A message takes longer than usual', `${MESSAGE} detail=greylisted`],
  ['queue.message.queued', 'A message entered the mail queue', 'queue_id sender recipient'],
  ['queue.message.processed', 'A message left the mail queue', 'queue_id sender recipient status'],
])

reserved('rspamd', [
  ['spam.quarantined', 'A message was kept back as spam', `${MESSAGE} spam_score?`],
  ['spam.released', 'A message was let out of quarantine', `${MESSAGE} operator_id?`],
  ['spam.reported', 'A user reported a message as spam', `${MESSAGE} user`],
  ['spam.false_positive', 'A user reported a message as not spam', `${MESSAGE} user`],
])
