import { reserved } from './plan.ts'

const TOUCHED = 'user mailbox=INBOX message_uid message_id?'

reserved('dovecot', [
  ['email.unread', 'A message was marked as unread', TOUCHED],
  ['email.replied', 'A message was answered', TOUCHED],
  ['email.forwarded', 'A message was forwarded by hand', TOUCHED],
  ['email.drafted', 'A draft was saved', TOUCHED],
  ['email.draft.deleted', 'A draft was thrown away', TOUCHED],
  ['email.attachment.downloaded', 'An attachment was fetched', `${TOUCHED} attachment`],
  ['folder.created', 'A folder was created', 'user folder'],
  ['folder.deleted', 'A folder was deleted', 'user folder'],
  ['folder.renamed', 'A folder has a new name', 'user folder new_folder'],
  ['folder.subscribed', 'A folder was subscribed to', 'user folder'],
  ['folder.unsubscribed', 'A folder is no longer subscribed to', 'user folder'],
  ['vacation.response.sent', 'The vacation responder sent a reply', 'user recipient'],
  ['filter.triggered', 'A Sieve script acted on a message', 'script_name email message_id'],
])

reserved('api', [
  ['sieve.script.updated', 'A Sieve script has new content', 'script_name email'],
  ['sieve.script.activated', 'A Sieve script is the active one', 'script_name email'],
  ['vacation.enabled', 'The vacation responder of a mailbox was switched on', 'email'],
  ['vacation.disabled', 'The vacation responder of a mailbox was switched off', 'email'],
])
