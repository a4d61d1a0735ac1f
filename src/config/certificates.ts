import { EMAIL_PATTERN } from '../lib/email.ts'
import * as env from './env.ts'

// In lower case and without the final dot, as look-ups return names.
const ZONE = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9])?)*$/

/** Storage of certificates, and the way to obtain them. */
export const certificateVariables = {
  SVC_CERTIFICATE_DIR: env.text('Folder of certificates; unset: certificates under DATA_DIR'),
  ACME_DIRECTORY_URL: env.url('ACME directory of the CA; unset: no certificates are ordered', [
    'https:',
  ]),
  ACME_EMAILS: env.list('Accounts at the CA, used in turn', 'email addresses', (entry) =>
    new RegExp(EMAIL_PATTERN).test(entry),
  ),
  ACME_CA_FILE: env.text('PEM file of the root that signs the certificate of the CA itself'),
  ACME_DNS_HOOK: env.text('Program that adds and removes the TXT records of DNS-01 challenges'),
  ACME_DNS_ZONES: env.list('Zones that ACME_DNS_HOOK can write to', 'domain names', (entry) =>
    ZONE.test(entry),
  ),
  ACME_DNS_WAIT: env.integer('Seconds to wait for a new TXT record to be visible', 60, {
    max: 3600,
  }),
  CERT_RENEWAL_DAYS: env.integer('Days before its expiry that a certificate is renewed', 30, {
    min: 1,
    max: 365,
  }),
  CERT_CHECK_INTERVAL: env.integer('Seconds between checks for due renewals', 21_600, {
    min: 60,
  }),
  CERT_SERVER_IPS: env.networks('IP addresses of this installation, which names must resolve to'),
  CERT_WEEKLY_LIMIT: env.integer('Orders in seven days, below the limit of the CA', 40, { min: 1 }),
  CERT_WORKER_THREADS: env.integer('Concurrent orders per process', 3, { min: 1, max: 50 }),
  CERT_ORDER_TIMEOUT: env.integer('Seconds that one order may take', 300, { min: 5, max: 3600 }),
  CERT_RETRY_SCHEDULE: env.numbers(
    'Seconds to wait before each retry of an order; then it has failed',
    [60, 600, 3600, 14_400],
  ),
} as const
