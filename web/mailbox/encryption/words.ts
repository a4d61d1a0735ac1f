const en = {
  title: 'Encryption',
  hint: 'Your OpenPGP keys and S/MIME certificates. Programs of other people find the preferred key by your address and can write to you encrypted. The operators of this server can read the texts that it decrypts for you: keep the private key in your mail program if that matters to you.',
  delivery: 'Encrypted delivery',
  deliveryHint:
    'Mail that arrives is encrypted to your preferred key or certificate before it is stored. You need the private key and its passphrase to read it; search and filters no longer see its text. What cannot be encrypted waits and does not arrive as plain text.',
  enabled: 'Encrypt mail that arrives',
  method: 'With',
  saved: 'Encrypted delivery is saved',
  generate: 'New key',
  generateHint:
    'The key is made here and stored with its private part, locked with your passphrase.',
  generated: 'The key is made',
  name: 'Your name, as others see it',
  passphraseHint: 'At least 8 characters. It is not stored: without it the key is lost.',
  none: 'No keys',
  noneHint: 'Make a new key, or import the one that your mail program has.',
  noCertificates: 'No certificates',
  noCertificatesHint: 'Certificates come from a certificate authority, or from your company.',
}

const de: typeof en = {
  title: 'Verschlüsselung',
  hint: 'Ihre OpenPGP-Schlüssel und S/MIME-Zertifikate. Programme anderer finden den bevorzugten Schlüssel über Ihre Adresse und können Ihnen verschlüsselt schreiben. Wer diesen Server betreibt, kann lesen, was er für Sie entschlüsselt: Behalten Sie den privaten Schlüssel im Mailprogramm, wenn Ihnen das wichtig ist.',
  delivery: 'Verschlüsselte Zustellung',
  deliveryHint:
    'Ankommende Mail wird mit Ihrem bevorzugten Schlüssel oder Zertifikat verschlüsselt, bevor sie gespeichert wird. Zum Lesen brauchen Sie den privaten Schlüssel und seine Passphrase; Suche und Filter sehen den Text nicht mehr. Was sich nicht verschlüsseln lässt, wartet und kommt nicht unverschlüsselt an.',
  enabled: 'Ankommende Mail verschlüsseln',
  method: 'Mit',
  saved: 'Die verschlüsselte Zustellung ist gespeichert',
  generate: 'Neuer Schlüssel',
  generateHint:
    'Der Schlüssel wird hier erzeugt und mit seinem privaten Teil gespeichert, gesperrt mit Ihrer Passphrase.',
  generated: 'Der Schlüssel ist erzeugt',
  name: 'Ihr Name, wie andere ihn sehen',
  passphraseHint:
    'Mindestens 8 Zeichen. Sie wird nicht gespeichert: Ohne sie ist der Schlüssel verloren.',
  none: 'Keine Schlüssel',
  noneHint: 'Erzeugen Sie einen neuen, oder importieren Sie den aus Ihrem Mailprogramm.',
  noCertificates: 'Keine Zertifikate',
  noCertificatesHint: 'Zertifikate kommen von einer Zertifizierungsstelle oder von Ihrer Firma.',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
