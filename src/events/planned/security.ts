import { awaited, reserved } from './plan.ts'

awaited('totp', [['auth.totp.verified', 'A code of a second factor was accepted', 'user method']])

reserved('encryption', [
  ['encryption.key.revoked', 'A key is no longer to be used', 'user key_type fingerprint'],
  ['encryption.message.encrypted', 'A message was encrypted', 'message_id user key_type'],
  ['encryption.message.decrypted', 'A message was decrypted', 'message_id user key_type'],
])

reserved('api', [
  ['security.auth.failure', 'A credential was refused', 'ip_address user? reason=password'],
  ['security.ip.whitelisted', 'An IP address is allowed by a rule', 'ip_address domain cidr?'],
])

reserved('rspamd', [
  ['security.spam.detected', 'A message is spam', 'message_id sender recipient spam_score'],
  [
    'security.phishing.detected',
    'A message was recognized as phishing',
    'message_id sender recipient url?',
  ],
  [
    'security.virus.detected',
    'A message carries a virus',
    'message_id sender recipient virus_name',
  ],
  [
    'security.policy.violation',
    'A message breaks a policy',
    'message_id sender recipient policy_name',
  ],
])

reserved('url_protection', [
  ['url.rewritten', 'A link was led through the checker', 'original_url rewritten_url'],
  ['url.blocked', 'A link was not opened for its reader', 'url user? reason=phishing'],
  ['url.sandbox.result', 'The page behind a link was examined', 'url result'],
])
