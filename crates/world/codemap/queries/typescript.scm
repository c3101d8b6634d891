(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(function_signature name: (identifier) @name) @prototype
(class_declaration name: (type_identifier) @name) @class
(abstract_class_declaration name: (type_identifier) @name) @class
(interface_declaration name: (type_identifier) @name) @interface
(type_alias_declaration name: (type_identifier) @name) @type
(enum_declaration name: (identifier) @name) @enum
(internal_module name: (identifier) @name) @namespace
(method_definition name: [(property_identifier) (private_property_identifier)] @name) @method
(abstract_method_signature name: (property_identifier) @name) @prototype
(method_signature name: (property_identifier) @name) @prototype
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name value: (class)) @class
(export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name) @variable))

[(identifier) (type_identifier) (property_identifier) (shorthand_property_identifier)] @reference
