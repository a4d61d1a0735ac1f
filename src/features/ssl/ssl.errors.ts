import { defineError } from '../../errors.ts'

export const CertificateNotFound = defineError<string>({
  status: 404,
  message: (domain) => `No certificate found for ${domain}`,
})
export const NotOurDomain = defineError<string>({
  status: 404,
  message: (domain) =>
    `${domain} is neither an active domain of this installation nor its mail host; no certificate can be obtained for it`,
})
export const RenewalUnavailable = defineError({
  status: 501,
  code: 'CERT_RENEW_UNAVAILABLE',
  message:
    'Certificates cannot be renewed from here: set ACME_DIRECTORY_URL and ACME_EMAILS, and run the service cert_manager',
})
