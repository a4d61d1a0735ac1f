import { EMAIL_PATTERN } from './lib/email.ts'
import * as env from './lib/env.ts'

/** Certificates: where they are, and how they are obtained. */
export const certificateVariables = {
  SSL_CERT_DIR: env.text(
    'Folder of certificates; certificates under DATA_DIR when unset',
    undefined,
  ),
  ACME_DIRECTORY_URL: env.url('Directory of the CA that issues certificates; unset: none', [
    'https:',
  ]),
  ACME_EMAILS: env.list('Accounts at the CA, used in turn', 'email addresses', (entry) =>
    new RegExp(EMAIL_PATTERN).test(entry),
  ),
  ACME_CA_FILE: env.text('Certificate that the CA itself is trusted by, in PEM', undefined),
  CERT_RENEWAL_DAYS: env.integer('Days before its end that a certificate is renewed', 30, {
    min: 1,
    max: 365,
  }),
  CERT_CHECK_INTERVAL: env.integer('Seconds between looks for what is to be renewed', 21_600, {
    min: 60,
  }),
  CERT_SERVER_IPS: env.networks('Addresses of this installation, which names must lead to'),
  CERT_WEEKLY_LIMIT: env.integer('Orders in seven days, below what the CA allows', 40, { min: 1 }),
  CERT_WORKER_THREADS: env.integer('Orders under way at once, per process', 3, {
    min: 1,
    max: 50,
  }),
  CERT_ORDER_TIMEOUT: env.integer('Seconds that one order may take', 300, { min: 5, max: 3600 }),
  CERT_RETRY_SCHEDULE: env.numbers(
    'Seconds to wait before each retry of an order; then it has failed',
    [60, 600, 3600, 14_400],
  ),
} as const
