import { Copy } from '../ui/copy.tsx'
import { Field } from '../ui/field.tsx'
import { t } from './words.ts'

/** The path of the token and the command that prints it; the file is readable on the server only. */
export const TokenField = ({ file }: { file: string | null }) => (
  <>
    {file && (
      <div class="note prose">
        <p>
          {t.tokenHint} <code>{file}</code>
        </p>
        <p>{t.tokenCommand}</p>
        <p class="actions">
          <code>cat {file}</code>
          <Copy text={`cat ${file}`} label={t.command} />
        </p>
      </div>
    )}
    <Field label={t.token} name="token" type="password" autocomplete="off" required autofocus />
  </>
)
