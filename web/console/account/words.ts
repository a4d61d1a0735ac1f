const en = {
  signedInAs: 'Signed in as',
  role: 'Role',
  codes: 'Backup codes',
  codesHint:
    'Each signs you in once without the authenticator app. New ones replace those that are left.',
  renew: 'Make new backup codes',
  proof: 'Proof',
  proofs: { password: 'My password', code: 'A code of the authenticator app' },
  code: 'Code',
}

const de: typeof en = {
  signedInAs: 'Angemeldet als',
  role: 'Rolle',
  codes: 'Ersatzcodes',
  codesHint:
    'Jeder meldet Sie einmal ohne die Authenticator-App an. Neue ersetzen die, die übrig sind.',
  renew: 'Neue Ersatzcodes erzeugen',
  proof: 'Nachweis',
  proofs: { password: 'Mein Passwort', code: 'Ein Code der Authenticator-App' },
  code: 'Code',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
