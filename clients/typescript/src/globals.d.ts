// The transport's types name this type of browsers, which Node's types leave out.
type HeadersInit = NonNullable<ConstructorParameters<typeof Headers>[0]>;
