import { Copy } from './copy.tsx'
import { t } from './enrol.words.ts'
import { CheckBox, Field } from './field.tsx'
import { Form } from './form.tsx'
import { QrCode } from './qr.tsx'
import { Secret } from './secret.tsx'

interface Props {
  enrolment: { secret: string; otpauth_uri: string; backup_codes: readonly string[] }
  /** Sends the first code; the second factor is on when it succeeds. */
  verify(code: string): Promise<unknown>
  onCancel?: () => void
}

/** Second factor: QR code, the secret as text, backup codes to store, and a first code as proof. */
export const Enrol = ({ enrolment, verify, onCancel }: Props) => (
  <Form submit={t.enable} onSubmit={(values) => verify(values.text('code'))} onCancel={onCancel}>
    <ol class="steps">
      <li>
        <h2>{t.scan}</h2>
        <div class="enrol">
          <QrCode text={enrolment.otpauth_uri} label={t.qr} />
          <div class="prose">
            <p>{t.scanHint}</p>
            <p class="actions">
              <code>{grouped(enrolment.secret)}</code>
              <Copy text={enrolment.secret} label={t.secret} />
            </p>
          </div>
        </div>
      </li>
      <li>
        <h2>{t.codes}</h2>
        <p class="muted">{t.codesHint}</p>
        <Secret
          value={enrolment.backup_codes.join('\n')}
          label={t.codes}
          fileName="mailplane-backup-codes.txt"
        />
        <CheckBox label={t.stored} name="stored" required />
      </li>
      <li>
        <h2>{t.prove}</h2>
        <Field
          label={t.code}
          name="code"
          inputMode="numeric"
          autocomplete="one-time-code"
          pattern="[0-9 ]{6,7}"
          required
        />
      </li>
    </ol>
  </Form>
)

const grouped = (secret: string) => (secret.match(/.{1,4}/g) ?? []).join(' ')
