import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Client } from '../api/client.ts'
import { type Brand, ofHttps } from '../lib/brand.ts'
import { beginEnrolment, confirmEnrolment, type Enrolment } from '../lib/enrolment.ts'
import { remember, remembered } from '../lib/language.ts'
import { useAddress } from '../lib/router.tsx'
import { HOMES, type Kind, wayBack } from '../lib/sessions.ts'
import { Enrol } from '../ui/enrol.tsx'
import { Field } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { Icon } from '../ui/icon.tsx'
import { mail } from '../ui/icons.ts'
import { Text } from '../ui/page.tsx'
import { SignIn, type Step } from '../ui/sign-in.tsx'
import { t as common } from '../ui/words.ts'
import { clients } from './clients.ts'
import { t } from './words.ts'

const KINDS: readonly Kind[] = ['dashboard', 'mailbox', 'operator']

type View =
  | { name: 'sign-in' }
  | { name: 'forgot' }
  | { name: 'enrol'; enrolment: Enrolment }
  | { name: 'new-password'; current: string }

/** One sign-in page for the three kinds of people. */
export function SignInPage({ brand, needsOperator }: { brand: Brand; needsOperator: boolean }) {
  const { searchParams } = useAddress()
  const [kind, setKind] = useState<Kind>(firstKind(searchParams.get('as')))
  const [view, setView] = useState<View>({ name: 'sign-in' })
  const api = clients[kind]
  const enter = () => location.assign(wayBack(kind, searchParams.get('next')))
  const follow = async (step: Step, { password }: { password: string }) => {
    remember('surface', kind)
    if (step === 'enrol') setView({ name: 'enrol', enrolment: await beginEnrolment(kind, api) })
    else if (step === 'new-password') setView({ name: 'new-password', current: password })
    else enter()
  }
  if (view.name === 'enrol') {
    return (
      <Frame brand={brand} title={t.enrolTitle} hint={t.enrolHint} wide>
        <Enrol
          enrolment={view.enrolment}
          verify={async (code) => {
            await confirmEnrolment(kind, api, code)
            enter()
          }}
        />
      </Frame>
    )
  }
  if (view.name === 'new-password') {
    return (
      <Frame brand={brand} title={t.newPasswordTitle} hint={t.newPasswordHint}>
        <NewPassword api={api} current={view.current} onDone={enter} />
      </Frame>
    )
  }
  if (view.name === 'forgot') {
    return (
      <Frame brand={brand} title={t.forgot} hint={t.forgotHint}>
        <Forgotten api={api} onBack={() => setView({ name: 'sign-in' })} />
      </Frame>
    )
  }
  return (
    <Frame brand={brand} title={t.title(brand.name)} hint={t.hints[kind]}>
      <fieldset class="segments">
        <legend class="hidden">{t.as}</legend>
        {KINDS.map((one) => (
          <label key={one}>
            <input type="radio" name="kind" checked={one === kind} onChange={() => setKind(one)} />
            <span>{t.kinds[one]}</span>
          </label>
        ))}
      </fieldset>
      <SignIn kind={kind} api={api} onStep={follow} />
      {kind === 'dashboard' && (
        <button type="button" class="link" onClick={() => setView({ name: 'forgot' })}>
          {t.forgot}
        </button>
      )}
      {kind === 'operator' && needsOperator && (
        <p class="muted">
          {t.noOperator} <a href="/setup?step=operator">{t.setUp}</a>
        </p>
      )}
    </Frame>
  )
}

export const Frame = ({
  brand,
  title,
  hint,
  wide = false,
  children,
}: {
  brand: Brand
  title: string
  hint?: string
  wide?: boolean
  children: ComponentChildren
}) => {
  document.title = `${title} · ${brand.name}`
  return (
    <main class="sign-in">
      <div class={wide ? 'panel wide' : 'panel'}>
        <p class="brand">
          {brand.logo ? (
            <img src={brand.logo} alt="" height={28} />
          ) : (
            <Icon path={mail} size={22} />
          )}
          <Text>{brand.name}</Text>
        </p>
        <h1>{title}</h1>
        {hint && <p class="muted">{hint}</p>}
        {children}
        {brand.fields && <Support fields={brand.fields} />}
      </div>
    </main>
  )
}

function Support({ fields }: Required<Pick<Brand, 'fields'>>) {
  const email = fields.support_email
  const address = ofHttps(fields.support_url) ?? (email && `mailto:${email}`)
  return address ? (
    <p class="muted">
      {t.help} <a href={address}>{email ?? t.support}</a>
    </p>
  ) : null
}

function Forgotten({ api, onBack }: { api: Client; onBack(): void }) {
  const [sent, setSent] = useState(false)
  return (
    <>
      {sent ? (
        <p role="status">{t.linkSent}</p>
      ) : (
        <Form
          submit={t.sendLink}
          onSubmit={async (values) => {
            await api.post('/auth/password-reset', { body: { email: values.text('email') } })
            setSent(true)
          }}
        >
          <Field
            label={common.email}
            name="email"
            type="email"
            autocomplete="username"
            required
            autofocus
          />
        </Form>
      )}
      <button type="button" class="link" onClick={onBack}>
        {t.back}
      </button>
    </>
  )
}

const NewPassword = ({
  api,
  current,
  onDone,
}: {
  api: Client
  current: string
  onDone(): void
}) => (
  <Form
    submit={t.newPasswordTitle}
    onSubmit={async (values) => {
      await api.post('/mailbox/password', {
        body: { current_password: current, new_password: values.secret('new_password') },
      })
      onDone()
    }}
  >
    <Field
      label={t.newPassword}
      name="new_password"
      type="password"
      autocomplete="new-password"
      hint={t.passwordRule}
      required
      autofocus
    />
  </Form>
)

function firstKind(asked: string | null): Kind {
  const wanted = asked ?? remembered('surface')
  return wanted !== undefined && wanted in HOMES ? (wanted as Kind) : 'dashboard'
}
