import { accountIn, nothing, type PersonalTable } from './personal-table.ts'

const INDEX = { not: 'an index of the mail in mail/' }

/** Tables of JMAP. All of them go with the mailbox; the index follows the mail. */
export const tablesOfJmap: readonly PersonalTable[] = [
  {
    table: 'jmap_accounts',
    personal: 'vacation_html',
    plain: '',
    find: accountIn('email_account_id'),
    owner: 'organization_id',
    exported: 'records',
    erased: { by: 'mailbox' },
    expired: { with: 'email_accounts' },
  },
  {
    table: 'jmap_mailboxes',
    personal: 'path name',
    plain: 'role',
    find: accountIn('account_id'),
    exported: INDEX,
    erased: { by: 'mailbox' },
    expired: { by: 'jmap.forget' },
  },
  {
    table: 'jmap_emails',
    personal:
      'head subject from_text to_text cc_text bcc_text from_sort to_sort subject_sort preview',
    plain: 'keywords',
    find: accountIn('account_id'),
    exported: INDEX,
    erased: { by: 'mailbox' },
    expired: { by: 'jmap.forget' },
  },
  {
    table: 'jmap_uploads',
    personal: '',
    plain: 'media_type',
    find: accountIn('account_id'),
    exported: { not: 'removed after a day' },
    erased: { by: 'mailbox' },
    expired: { by: 'jmap.forget' },
  },
  {
    table: 'jmap_upload_pieces',
    personal: 'bytes',
    plain: '',
    find: nothing,
    exported: { not: 'removed after a day' },
    erased: { by: 'mailbox' },
    expired: { with: 'jmap_uploads' },
  },
  {
    table: 'jmap_identities',
    personal: 'email name reply_to bcc text_signature html_signature',
    plain: '',
    find: accountIn('account_id'),
    exported: 'records',
    erased: { by: 'mailbox' },
    expired: { with: 'jmap_accounts' },
  },
  {
    table: 'jmap_submissions',
    personal: 'envelope delivery_status',
    plain: '',
    find: accountIn('account_id'),
    exported: 'records',
    erased: { by: 'mailbox' },
    expired: { by: 'jmap.forget' },
  },
  {
    table: 'jmap_push_subscriptions',
    personal: 'url',
    plain: 'keys types verification_code sent_states',
    find: accountIn('email_account_id'),
    exported: 'records',
    withheld: 'keys verification_code app_password_id',
    erased: { by: 'mailbox' },
    expired: { by: 'jmap.forget' },
  },
]
