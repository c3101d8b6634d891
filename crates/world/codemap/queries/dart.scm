(class_declaration name: (identifier) @name) @class
(mixin_declaration name: (identifier) @name) @mixin
(extension_declaration name: (identifier) @name) @extension
(enum_declaration name: (identifier) @name) @enum
(type_alias (type_identifier) @name) @type
(function_declaration signature: (function_signature name: (identifier) @name)) @function
(getter_declaration signature: (getter_signature name: (identifier) @name)) @function
(setter_declaration signature: (setter_signature name: (identifier) @name)) @function
(method_declaration signature: (method_signature (function_signature name: (identifier) @name))) @method
(method_declaration signature: (method_signature (getter_signature name: (identifier) @name))) @method
(method_declaration signature: (method_signature (setter_signature name: (identifier) @name))) @method
(method_declaration signature: (method_signature (constructor_signature . name: (identifier) @name))) @constructor
(method_declaration signature: (method_signature (factory_constructor_signature . name: (identifier) @name))) @constructor
(declaration (constructor_signature . name: (identifier) @name)) @constructor
(declaration (constant_constructor_signature . name: (identifier) @name)) @constructor
(declaration (function_signature name: (identifier) @name)) @prototype
(declaration (getter_signature name: (identifier) @name)) @prototype
(top_level_variable_declaration (static_final_declaration_list (static_final_declaration name: (identifier) @name))) @constant

[(identifier) (type_identifier)] @reference
