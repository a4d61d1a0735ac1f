/** Examples for programs. The password is read from the environment and never part of the text. */
export const snippets = (server: string, username: string): Record<string, string> => ({
  'swaks (shell)': `swaks --server ${server}:587 --tls \\
  --auth-user '${username}' --auth-password "$SMTP_PASSWORD" \\
  --from you@example.org --to someone@example.com`,
  Nodemailer: `import nodemailer from 'nodemailer'
const transport = nodemailer.createTransport({
  host: '${server}', port: 587, requireTLS: true,
  auth: { user: '${username}', pass: process.env.SMTP_PASSWORD },
})
await transport.sendMail({ from: 'you@example.org', to: 'someone@example.com', subject: 'Hello', text: 'Hello' })`,
  Python: `import os, smtplib
from email.message import EmailMessage
message = EmailMessage()
message['From'], message['To'], message['Subject'] = 'you@example.org', 'someone@example.com', 'Hello'
message.set_content('Hello')
with smtplib.SMTP('${server}', 587) as smtp:
    smtp.starttls()
    smtp.login('${username}', os.environ['SMTP_PASSWORD'])
    smtp.send_message(message)`,
  'PHP (Symfony Mailer)': `MAILER_DSN=smtp://${encodeURIComponent(username)}:PASSWORD@${server}:587`,
  'Postfix relay': `relayhost = [${server}]:587
smtp_sasl_auth_enable = yes
smtp_sasl_password_maps = static:${username}:PASSWORD
smtp_sasl_security_options = noanonymous
smtp_tls_security_level = encrypt`,
})
