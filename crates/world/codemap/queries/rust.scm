(function_item name: (identifier) @name) @function
(function_signature_item name: (identifier) @name) @prototype
(struct_item name: (type_identifier) @name) @struct
(enum_item name: (type_identifier) @name) @enum
(union_item name: (type_identifier) @name) @union
(trait_item name: (type_identifier) @name) @trait
(type_item name: (type_identifier) @name) @type
(const_item name: (identifier) @name) @constant
(static_item name: (identifier) @name) @variable
; One without a body only names a file.
(mod_item name: (identifier) @name body: (_)) @module
(macro_definition name: (identifier) @name) @macro

[(identifier) (type_identifier) (field_identifier) (shorthand_field_identifier)] @reference
