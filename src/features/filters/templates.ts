import { lines } from '../../sieve/text.ts'

/** Starting points for tenants, who replace the example addresses, words and folders. */
export const TEMPLATES = [
  {
    id: 'forward',
    name: 'Forward a copy',
    description: 'Sends a copy of every message to another address; the original stays',
    sieve_content: lines('require ["copy"];', 'redirect :copy "someone@example.com";'),
  },
  {
    id: 'auto_reply',
    name: 'Automatic reply',
    description: 'Answers each sender once a week',
    sieve_content: lines(
      'require ["vacation"];',
      'vacation :days 7 :subject "We have your message"',
      '  "Thank you for writing. We will answer within two working days.";',
    ),
  },
  {
    id: 'move_subject',
    name: 'File by subject',
    description: 'Moves messages with a word in the subject to a folder',
    sieve_content: lines(
      'require ["fileinto", "mailbox"];',
      'if header :contains "subject" "invoice" {',
      '  fileinto :create "Invoices";',
      '}',
    ),
  },
  {
    id: 'move_sender',
    name: 'File by sender',
    description: 'Moves messages from one address to a folder',
    sieve_content: lines(
      'require ["fileinto", "mailbox"];',
      'if address :is "from" "news@example.com" {',
      '  fileinto :create "News";',
      '}',
    ),
  },
  {
    id: 'reject_sender',
    name: 'Refuse a sender',
    description: 'Sends messages from one address back, with a reason',
    sieve_content: lines(
      'require ["reject"];',
      'if address :is "from" "noise@example.com" {',
      '  reject "This mailbox does not accept your mail.";',
      '  stop;',
      '}',
    ),
  },
  {
    id: 'attachment_filter',
    name: 'File messages with attachments',
    description: 'Moves messages that consist of several parts to a folder',
    sieve_content: lines(
      'require ["fileinto", "mailbox"];',
      'if header :contains "content-type" "multipart/mixed" {',
      '  fileinto :create "Attachments";',
      '}',
    ),
  },
] as const
